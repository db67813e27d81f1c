"""Ideals as people work with them: constructed, combined, decomposed, resolved; each question is
one program.
"""

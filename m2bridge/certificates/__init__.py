"""Certificates: answers with the evidence that lets a reader without Macaulay2 check them."""

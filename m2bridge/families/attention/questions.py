"""What can be certified about attention beside the statements."""

from m2bridge.families.attention.closure_question import CLOSURE

QUESTIONS = (CLOSURE,)

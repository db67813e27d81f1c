"""Making certificates: questions, observations, and the content that follows from them."""

"""Many cases: one certificate or outcome for each question: resumable, in parallel."""

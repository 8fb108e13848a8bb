"""Results in words: conclusions, methods paragraphs, what can be asked."""

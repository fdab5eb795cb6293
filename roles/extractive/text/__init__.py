"""Read English text: words, stems, kinds of nouns, dates, amounts, value candidates."""

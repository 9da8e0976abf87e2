"""What a rule says is to stand in place of its site, as edits of the text: libcst in, plain data out."""

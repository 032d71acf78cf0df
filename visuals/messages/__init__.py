"""Every message that goes to the page, as a TypedDict: what it holds, its shapes and its units.

One module a chapter, named as the chapter is; what several chapters send is in `arrays`, `run` and `sums`, what is in
the page's head in `page`. `answers` names the answer to each question. The functions that build messages are annotated
with these types, and declarations.py writes them down for the page's own code (static/messages.d.ts). A test holds
what is really sent against them (tests/app/test_messages.py).

Symbols are those of docs/ARCHITECTURE.md: T tokens, S tokens of a source text that an encoder reads, L layers, d
d_model, V vocabulary, f ffn_hidden, N neurons of a layer (of all its experts), K how many are sent. What JSON has no
word for: a tuple is sent as a list, None as null. A key that is NotRequired is left out where there is nothing to say.
"""

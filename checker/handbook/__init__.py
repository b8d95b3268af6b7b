"""The handbook: a static site of which every diagram, table, number and trace is read off the product.

It needs jinja2, markdown-it-py, networkx and pygraphviz, which the optional group `handbook` brings.
"""

/** HTML as a browser reads it: a flat list of its elements, each with its attributes and its text. */

import { type DefaultTreeAdapterTypes, parse, defaultTreeAdapter as tree } from 'parse5'

export interface HtmlElement {
  tag: string
  attributes: Readonly<Record<string, string>>
  text: string
  elements: readonly HtmlElement[]
}

export function readHtml(text: string): readonly HtmlElement[] {
  return elementsOf(parse(text))
}

function elementsOf(node: DefaultTreeAdapterTypes.ParentNode): HtmlElement[] {
  return node.childNodes.filter(tree.isElementNode).flatMap(child => {
    const elements = elementsOf(child)
    const attributes = Object.fromEntries(child.attrs.map(({ name, value }) => [name, value]))
    return [{ tag: child.tagName, attributes, text: textOf(child), elements }, ...elements]
  })
}

function textOf(node: DefaultTreeAdapterTypes.ParentNode): string {
  return node.childNodes
    .map(child => (tree.isTextNode(child) ? child.value : tree.isElementNode(child) ? textOf(child) : ''))
    .join('')
}

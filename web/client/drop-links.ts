/** Removes links from a document that shows a view alone. */

import { options } from 'preact'

/** Links of the pages lead outside of the view: they stay as text. Call it once. */
export function dropLinks(): void {
  const before = options.vnode
  options.vnode = node => {
    if (node.type === 'a') Reflect.deleteProperty(node.props as object, 'href')
    before?.(node)
  }
}

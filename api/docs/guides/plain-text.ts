/** Converts Markdown to plain text. */

import type { MarkedToken, Token } from 'marked'

export function plainText(token: Token): string {
  const known = token as MarkedToken
  if (known.type === 'table') return [known.header, ...known.rows].map(row => row.map(textOf).join(' ')).join('\n')
  if (known.type === 'list') return known.items.map(textOf).join('\n')
  if (known.type === 'br' || known.type === 'space') return ' '
  if ('tokens' in known && known.tokens !== undefined) return textOf(known)
  return 'text' in known ? known.text : ''
}

function textOf({ tokens = [] }: { tokens?: Token[] }): string {
  return tokens.map(plainText).join('')
}

/** What the search finds: the sections of guides, each to its next heading, and operations. */

import { marked, type Token, type Tokens } from 'marked'
import { createAnchors } from '../guides/anchors.ts'
import type { Guide } from '../guides/guides.ts'
import { plainText } from '../guides/plain-text.ts'
import type { Family } from '../reference/reference.ts'
import type { Section } from './search-index.ts'

export function guideSections({ path, title, markdown }: Guide): Section[] {
  const sections: Section[] = []
  const anchors = createAnchors()
  for (const token of marked.lexer(markdown)) {
    const last = sections.at(-1)
    if (token.type === 'heading') {
      const isTop = token['depth'] === 1
      const anchor = anchors(token as Tokens.Heading)
      sections.push({
        address: isTop ? path : `${path}#${anchor}`,
        title: plainText(token),
        page: title,
        text: '',
      })
    } else if (last !== undefined) last.text += `${textOf(token)} `
  }
  return sections
}

function textOf(token: Token): string {
  return token.type === 'html' ? '' : plainText(token)
}

export function operationSections({ title: family, operations }: Family): Section[] {
  return operations.map(({ page, method, path, operation }) => {
    const { summary, description = '', parameters = [], operationId } = operation
    const told = parameters.map(({ name, description = '' }) => `${name}: ${description}`)
    return {
      address: page,
      title: summary,
      page: family,
      text: [`${method} ${path}`, description, ...told, operationId].join(' '),
    }
  })
}

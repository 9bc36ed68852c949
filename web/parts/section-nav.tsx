/** The links to the sections of a page. */

import type { ComponentType } from 'preact'
import { addressOf } from '../client/address.ts'
import { t } from '../words/words.ts'

export interface Section {
  /** The path is relative to the page; empty for its first section. */
  path: string
  name: string
  Shown: ComponentType
}

interface SectionNavProps {
  /** The path of the page. */
  page: string
  sections: readonly Section[]
  current: Section | undefined
}

export function SectionNav({ page, sections, current }: SectionNavProps) {
  return (
    <nav class="sections" aria-label={t('Sections')}>
      {sections.map(section => (
        <a
          key={section.path}
          href={addressOf(section.path === '' ? page : `${page}/${section.path}`)}
          aria-current={section === current ? 'page' : undefined}
        >
          {section.name}
        </a>
      ))}
    </nav>
  )
}

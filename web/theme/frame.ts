/** The frame that every page has: where its navigation leads, and the line of its header. */

import type { Words } from '../../analytics/findings/words.ts'

interface NavigationEntry {
  page: 'fleet' | 'charts' | 'compare' | 'alerts' | 'admin' | 'account' | 'docs'
  name: string
  /** The path from the root of the service. */
  path: string
  /** Visitors without it do not see the entry. */
  needs?: 'session' | 'administrator'
}

export type NavigationPage = NavigationEntry['page']

const navigation = ({ t }: Words): readonly NavigationEntry[] => [
  { page: 'fleet', name: t('Fleet'), path: '/' },
  { page: 'charts', name: t('Charts'), path: '/charts' },
  { page: 'compare', name: t('Compare'), path: '/compare' },
  { page: 'alerts', name: t('Alerts'), path: '/alerts', needs: 'session' },
  { page: 'admin', name: t('Admin'), path: '/admin', needs: 'administrator' },
  { page: 'account', name: t('Account'), path: '/account', needs: 'session' },
  { page: 'docs', name: t('Docs'), path: '/docs' },
]

/** Entries that the visitor may use. Null: no session. Undefined: unknown, which shows all. */
export function navigationFor(
  visitor: { role?: string | undefined } | null | undefined,
  words: Words,
): readonly NavigationEntry[] {
  const entries = navigation(words)
  if (visitor === undefined) return entries
  const isAdministrator = visitor?.role === 'administrator' || visitor?.role === 'operator'
  return entries.filter(
    ({ needs }) => needs === undefined || (needs === 'session' ? visitor !== null : isAdministrator),
  )
}

/** The line that a barograph draws on its paper, in a box of 1000 by 48. */
export const tracePath =
  'M0 30C60 26 90 14 150 15S240 34 300 33 380 12 450 13 520 37 590 38 660 40 690 22 770 9 830 12 930 25 1000 20'

/** The frame that every page has: where its navigation leads, and the line of its header. */

interface NavigationEntry {
  page: 'fleet' | 'charts' | 'compare' | 'alerts' | 'admin' | 'account' | 'docs'
  name: string
  /** The path from the root of the service. */
  path: string
  /** Visitors without it do not see the entry. */
  needs?: 'session' | 'administrator'
}

export type NavigationPage = NavigationEntry['page']

const navigation: readonly NavigationEntry[] = [
  { page: 'fleet', name: 'Fleet', path: '/' },
  { page: 'charts', name: 'Charts', path: '/charts' },
  { page: 'compare', name: 'Compare', path: '/compare' },
  { page: 'alerts', name: 'Alerts', path: '/alerts', needs: 'session' },
  { page: 'admin', name: 'Admin', path: '/admin', needs: 'administrator' },
  { page: 'account', name: 'Account', path: '/account', needs: 'session' },
  { page: 'docs', name: 'Docs', path: '/docs' },
]

/** Entries that the visitor may use. Null: no session. Undefined: unknown, which shows all. */
export function navigationFor(visitor: { role?: string | undefined } | null | undefined): readonly NavigationEntry[] {
  if (visitor === undefined) return navigation
  const isAdministrator = visitor?.role === 'administrator' || visitor?.role === 'operator'
  return navigation.filter(
    ({ needs }) => needs === undefined || (needs === 'session' ? visitor !== null : isAdministrator),
  )
}

/** The line that a barograph draws on its paper, in a box of 1000 by 48. */
export const tracePath =
  'M0 30C60 26 90 14 150 15S240 34 300 33 380 12 450 13 520 37 590 38 660 40 690 22 770 9 830 12 930 25 1000 20'

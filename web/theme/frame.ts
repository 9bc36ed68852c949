/** The frame that every page has: where its navigation leads, and the line of its header. */

/** Paths as seen from the root of the service. */
export const navigation = [
  { page: 'fleet', name: 'Fleet', path: '/' },
  { page: 'alerts', name: 'Alerts', path: '/alerts' },
  { page: 'compare', name: 'Compare', path: '/compare' },
  { page: 'admin', name: 'Admin', path: '/admin' },
  { page: 'account', name: 'Account', path: '/account' },
  { page: 'docs', name: 'Docs', path: '/docs' },
] as const

export type NavigationPage = (typeof navigation)[number]['page']

/** The line that a barograph draws on its paper, in a box of 1000 by 48. */
export const tracePath =
  'M0 30C60 26 90 14 150 15S240 34 300 33 380 12 450 13 520 37 590 38 660 40 690 22 770 9 830 12 930 25 1000 20'

/** Headers of every page: nobody frames it, and no address of ours goes to another site. */

/**
 * Not `no-referrer`: with it browsers say `Origin: null` with a form, as they do for pages of other sites.
 */
export const pageHeaders = {
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const

/** Declares the errors that Auth.js names in addresses of its pages (authjs.dev/guides/pages/error). */

export const hostErrors = ['Configuration', 'AccessDenied', 'Verification', 'MissingCSRF', 'SessionRequired'] as const
export type HostError = (typeof hostErrors)[number]

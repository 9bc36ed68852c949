/** The folders with the code that a service runs. */
export const productionFolders = [
  'analytics',
  'api',
  'auth',
  'backup',
  'cli',
  'content',
  'ingest',
  'lifecycle',
  'limits',
  'live',
  'mqtt',
  'query',
  'service',
  'settings',
  'sign-in',
  'store',
]

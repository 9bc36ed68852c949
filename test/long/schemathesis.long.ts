/**
 * schemathesis finds no violation: requests that `/openapi.json` allows are accepted, others are rejected, and responses match.
 * Exceptions are in schemathesis/schemathesis.toml, with their reasons.
 */

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { becomes } from '../support/becomes.ts'
import { temporaryFolder } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { type Credentials, makeCredentials } from './credentials.ts'
import { keepPrinted } from './printed.ts'
import { makePython } from './python.ts'

/** The default limits would reject so many requests of one client. */
const environment = {
  FAILED_ATTEMPTS: '1000000',
  REGISTRATIONS_PER_HOUR: '1000000',
  MAIL_REQUESTS_PER_HOUR: '1000000',
}
const device = 'porch'

// schemathesis writes beside its settings.
const folder = temporaryFolder(t)
cpSync(join(import.meta.dirname, 'schemathesis'), folder, { recursive: true })
const python = await makePython(t, join(folder, 'requirements.txt'))

for (const part of ['--exclude-tag', '--include-tag']) {
  const isAdmin = part === '--include-tag'
  t.test(isAdmin ? 'the admin API, with the admin token' : 'all but the admin API', async t => {
    const service = await startService(t, { environment })
    const credentials = await makeCredentials(service, device)
    await becomes(t, async () => (await fetch(`${service.url}/api/fleet`)).status, 200, 'reads are answered')
    const words = ['--config-file', 'schemathesis.toml', 'run', `${service.url}/openapi.json`, part, 'admin']
    const run = await python.run(['schemathesis', ...words, '--no-color', '--continue-on-failure'], {
      folder,
      // tap requests colours, which would enable the progress display.
      environment: {
        FORCE_COLOR: undefined,
        CREDENTIALS: JSON.stringify(isAdmin ? ofAdmins(credentials) : ofOthers(credentials)),
      },
    })
    keepPrinted(isAdmin ? 'schemathesis-admin.txt' : 'schemathesis.txt', `${run.stdout}${run.stderr}`)
    t.equal(run.status, 0, run.status === 0 ? 'it finds nothing' : `${run.stdout}${run.stderr}`)
    t.notMatch(service.output(), /"level":(?:50|60)/, 'nothing is logged as an error')
  })
}

/** Sessions are omitted, since each of their foreign origins would be rejected. */
function ofAdmins({ adminToken = {} }: Credentials): Credentials {
  return { adminToken }
}

/** The key of an administrator adds unknown devices, so that their readings are accepted. */
function ofOthers({ device: _, ...credentials }: Credentials): Credentials {
  return credentials
}

/** The server's address for the command line comes from the options, else from the settings of the server. */

import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import t from 'tap'
import { findServer, findUrl } from '../../cli/find-server.ts'
import { readConfig } from '../../service/settings/config.ts'
import { makeCertificate } from '../support/certificate.ts'
import { barograph } from '../support/command-line.ts'
import { temporaryFolder } from '../support/databases.ts'

const folder = temporaryFolder(t)
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, 'secret\n')

t.test('the settings of the server say where it is', async t => {
  const at = (settings: Record<string, string>, url: string) => {
    const found = findUrl({}, () => readConfig(settings))
    t.equal(found, url)
  }
  at({}, 'http://127.0.0.1:8080')
  at({ HOST: '0.0.0.0', PORT: '90' }, 'http://127.0.0.1:90')
  at({ HOST: '::' }, 'http://[::1]:8080')
  at({ HOST: 'fe80::1' }, 'http://[fe80::1]:8080')
  at({ PUBLIC_URL: 'https://sensors.example/x' }, 'http://127.0.0.1:8080')
  t.throws(() => findUrl({}, () => readConfig({ PORT: '0' })), { message: /PORT is 0/ })
  t.strictSame(
    findServer({ url: 'http://a:81/b', tokenFile }, () => readConfig({})),
    { url: 'http://a:81', token: 'secret' },
  )
})

t.test('a server with a certificate of its own is reached without more ado', async t => {
  const { key, cert } = makeCertificate(folder)
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    const isKnown = request.headers.authorization === 'Bearer secret'
    response.end(isKnown ? '{"dead_letters":[],"damaged":[],"next":null}' : '{}')
  })
  server.listen(0, '127.0.0.1')
  await new Promise(listening => server.once('listening', listening))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const list = ['dead-letters', 'list', '--token-file', tokenFile]
  const environment = { TLS_CERT: cert, TLS_KEY: key, PORT: String(port) }
  const url = `https://127.0.0.1:${port}`
  // This test is first, since a trusted connection is kept.
  t.match(await barograph([...list, '--url', url]), { status: 1, stderr: /self-signed certificate/ })
  t.match(await barograph(list, { environment }), { status: 0, stdout: 'no dead letters\n' })
  t.match(await barograph([...list, '--url', url], { environment }), { status: 0 })
  const other = [...list, '--url', `https://localhost:${port}`]
  t.match(await barograph(other, { environment }), { status: 1, stderr: /localhost/ })
})

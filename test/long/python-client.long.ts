/** A client that openapi-python-client makes of `/openapi.json`: it type-checks, and makes a round against the service. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { keepPrinted } from './printed.ts'
import { makePython } from './python.ts'

const own = join(import.meta.dirname, 'python-client')
const folder = temporaryFolder(t)
const service = await startService(t)
const python = await makePython(t, join(own, 'requirements.txt'))

/** The generator makes no function, or none for this type, where a body or an answer is of a type that it does not know. */
const unknownTypes =
  /(?:Unsupported content type|Unsupported content_type) (?:text\/csv|text\/plain|application\/x-ndjson)\b/

t.test('the generator takes all of the document', async t => {
  const words = ['generate', '--url', `${service.url}/openapi.json`, '--config', join(own, 'config.yml')]
  const made = await python.run(['openapi-python-client', ...words], { folder })
  const printed = `${made.stdout}${made.stderr}`
  keepPrinted('python-client.txt', printed)
  t.equal(made.status, 0, printed)
  const [, ...warnings] = printed.split(/(?=WARNING|ERROR)/)
  t.strictSame(
    warnings.filter(text => !unknownTypes.test(text)),
    [],
  )
})

t.test('the client type-checks', async t => {
  const checked = await python.run(['mypy', 'barograph-client/barograph_client'], { folder })
  t.equal(checked.status, 0, checked.stdout)
})

t.test('it makes a round: device, readings, batch, latest', async t => {
  const token = readFileSync(join(service.dataDirectory, 'secrets', 'admin-token'), 'utf8').trim()
  const environment = { PYTHONPATH: join(folder, 'barograph-client') }
  const made = await python.run(['python', join(own, 'round.py'), service.url, token], { folder, environment })
  t.equal(made.status, 0, made.stderr)
})

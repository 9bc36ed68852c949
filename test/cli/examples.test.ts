/** The examples of the command page equal the help and send requests of the published contract. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type SeenRequest, startAnswering } from '../support/answering-server.ts'
import { barograph } from '../support/command-line.ts'
import { createContractChecker } from '../support/contract.ts'
import { temporaryFolder } from '../support/databases.ts'
import { published } from '../support/published.ts'

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
/** These read files, or reach the databases themselves. */
const others =
  /^barograph (?:start|init|doctor|import|import-points|export|content-files|backup|restore|kafka|replicas|(?:devices|alerts) import|.*--(?:output|settings-file))\b/
const examples = [...page.matchAll(/^ {2}(barograph .+)$/gm)]
  .map(([, line = '']) => line)
  .filter(line => !others.test(line))

const folder = temporaryFolder(t)
const tokenFile = join(folder, 'token')
writeFileSync(tokenFile, 'a'.repeat(64))
const decoderFile = join(folder, 'garden.json')
writeFileSync(decoderFile, '{"device":["garden"]}')
const contract = createContractChecker(published)
/** Fixed steps of paths come before parameters. */
const operations = Object.entries(published.paths)
  .map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    path,
    methods,
  }))
  .sort((a, b) => a.path.split('{').length - b.path.split('{').length)

const { url, seen: sent } = await startAnswering(t, () => ({
  status: 404,
  headers: { 'content-type': 'application/problem+json' },
  text: '{"title":"nothing is here"}',
}))

/** Removes the program, an explanation, and redirections of a shell. */
function wordsOf(example: string): string[] {
  const [command = ''] = example.slice('barograph '.length).split(/ {2,}| [<>|] /)
  return [...command.matchAll(/(?:'([^']*)'|"([^"]*)"|[^\s'"]+)(?=\s|$)/g)].map(
    ([word, quoted, other]) => quoted ?? other ?? word,
  )
}

/** Why a request does not fit the contract. */
function faultOf({ method, url, body }: SeenRequest): string | undefined {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const operation = operations.find(({ pattern }) => pattern.test(pathname))?.methods[method.toLowerCase()]
  if (operation === undefined) return `${method} ${pathname} is not in the contract`
  const { parameters = [], requestBody } = operation
  for (const name of searchParams.keys()) {
    if (!parameters.some(each => each.in === 'query' && each.name === name)) return `${name} is not in the query`
  }
  if (body !== '') return contract.fault(requestBody?.content, 'application/json', JSON.parse(body))
  return requestBody?.required === true ? 'the body is missing' : undefined
}

t.ok(examples.length > 80)
for (const example of examples) {
  t.test(example, async t => {
    const given = wordsOf(example).map(word => (word === 'garden.json' ? decoderFile : word))
    const words = [...given, '--url', url, '--token-file', tokenFile]
    const run = await barograph(words, { stdin: 'correct horse battery\n' })
    t.match(run, { status: 1, stderr: 'barograph: nothing is here\n' })
    const [first] = sent.splice(0)
    t.equal(first === undefined ? 'nothing was sent' : faultOf(first), undefined)
  })
}

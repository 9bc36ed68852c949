import { spawnSync } from 'node:child_process'
import { test } from 'tap'

const show = `
  const { closeSync, openSync } = await import('node:fs')
  const { areFilesExhausted, connectionsThatFit } = await import(process.cwd() + '/api/http/open-files.ts')
  const before = [connectionsThatFit(), areFilesExhausted()]
  const opened = []
  try { for (;;) opened.push(openSync('/dev/null')) } catch {}
  const after = areFilesExhausted()
  // The coverage of the test wants a file at the end.
  for (const fd of opened) closeSync(fd)
  console.log(JSON.stringify([...before, after]))
`

/** As a process of its own, with that limit of open files. */
function under(limit: number): [number, boolean, boolean] {
  const command = `ulimit -n ${limit} && exec "$0" --input-type=module -e "$1"`
  const { stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, show], { encoding: 'utf8' })
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout)
}

test('connections leave room for the files of the service', async t => {
  const [connections, before, after] = under(1000)
  t.ok(connections > 700 && connections < 872, `${connections} of 1000`)
  t.notOk(before)
  t.ok(after, 'and it is seen when there are no more')
  t.equal(under(64)[0], 1, 'one is left in any case')
})

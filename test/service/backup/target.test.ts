/** The folder that a backup is written to. */

import { mkdirSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'tap'
import { prepareTarget } from '../../../service/backup/target.ts'
import { temporaryFolder } from '../../support/databases.ts'

test('a folder for a backup is made, or taken empty, for its owner alone', t => {
  const folder = temporaryFolder(t)
  const [target, data] = [join(folder, 'monday'), join(folder, 'data')]
  mkdirSync(data)
  for (const when of ['new', 'empty']) {
    t.equal(prepareTarget(target, data), join(realpathSync(folder), 'monday'), when)
    t.equal(statSync(target).mode & 0o777, 0o700, when)
  }
  t.end()
})

test('a folder that cannot be taken is refused with the reason', t => {
  const folder = temporaryFolder(t)
  const [data, full, file] = [join(folder, 'data'), join(folder, 'full'), join(folder, 'file')]
  for (const made of [data, full]) mkdirSync(made)
  writeFileSync(join(full, 'x'), '')
  writeFileSync(file, '')
  const refuses = (path: string, reason: string) => t.throws(() => prepareTarget(path, data), { message: reason })
  refuses('monday', 'monday is not an absolute path.')
  refuses(join(data, 'monday'), `${join(data, 'monday')} is in the data directory: give another folder.`)
  refuses(full, `${realpathSync(full)} is not empty: give a new or an empty folder.`)
  const lost = join(folder, 'missing', 'monday')
  refuses(lost, `${lost} cannot be made: the folder that it is to be in is not there.`)
  refuses(join(file, 'monday'), `${join(file, 'monday')} cannot be made: ENOTDIR.`)
  t.end()
})

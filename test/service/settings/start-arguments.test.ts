import { test } from 'tap'
import { readStartArguments, UsageError } from '../../../service/settings/start-arguments.ts'

test('the role is read', async t => {
  t.strictSame(readStartArguments([]), { isHelp: false, role: 'all' })
  for (const role of ['all', 'api', 'forward']) {
    t.strictSame(readStartArguments(['--role', role]), { isHelp: false, role })
    t.strictSame(readStartArguments([`--role=${role}`]), { isHelp: false, role })
  }
})

test('help is asked for beside anything', async t => {
  for (const words of [['--help'], ['-h'], ['--role', 'x', '-h'], ['--port', '--help']]) {
    t.equal(readStartArguments(words).isHelp, true, words.join(' '))
  }
})

test('what is not taken is told', async t => {
  const refuses = (words: string[], message: RegExp) => {
    t.throws(() => readStartArguments(words), { constructor: UsageError, message }, words.join(' '))
  }
  refuses(['--port'], /^The service takes no arguments such as "--port"; --help lists its settings\.$/)
  for (const word of ['--port=1', '-v', 'api', '--']) refuses([word], new RegExp(`such as "${word}"`))
  refuses(['--role', 'api', 'forward'], /such as "forward"/)
  for (const words of [['--role'], ['--role='], ['--role', 'reader'], ['--role=API']]) {
    refuses(words, /^--role must be all, api or forward\.$/)
  }
})

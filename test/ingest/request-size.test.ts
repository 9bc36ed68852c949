import { test } from 'tap'
import { RequestSize } from '../../ingest/forwarder/request-size.ts'

const mebibyte = 1024 * 1024

/** Sends so many requests of the size that is asked for; what is longer than `limit` fails in this way. */
function send(size: RequestSize, limit: number, how: 'refused' | 'unanswered', requests: number): number {
  let failures = 0
  for (let count = 0; count < requests; count++) {
    if (size.bytes <= limit) {
      size.passed(size.bytes, 100)
      continue
    }
    failures++
    size[how](size.bytes)
  }
  return failures
}

test('requests grow to the most within a few, and short ones say nothing', async t => {
  const size = new RequestSize(12 * mebibyte)
  size.passed(1000, 1)
  t.equal(size.bytes, mebibyte)
  t.equal(send(size, 12 * mebibyte, 'refused', 4), 0)
  t.equal(size.bytes, 12 * mebibyte)
})

test('a proxy with a limit refuses few of many', async t => {
  const size = new RequestSize(12 * mebibyte)
  const failures = send(size, 600_000, 'refused', 200)
  t.ok(failures > 0 && failures < 20, `${failures} were refused`)
  t.ok(size.bytes > 250_000)
})

test('nothing passes for a long time: down to a row, and up again', async t => {
  const size = new RequestSize(12 * mebibyte)
  send(size, 0, 'unanswered', 100)
  t.equal(size.bytes, 1)
  send(size, 12 * mebibyte, 'unanswered', 30)
  t.equal(size.bytes, 12 * mebibyte)
})

test('a request that took long is long enough', async t => {
  const size = new RequestSize(12 * mebibyte)
  size.passed(size.bytes, 20_000)
  t.equal(size.bytes, mebibyte)
})

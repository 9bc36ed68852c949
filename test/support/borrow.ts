/** Loans of a runner's worker (test/worker.ts) to its test files. A file that runs alone starts its own parts. */

/** The address of the lender. */
export const lenderVariable = 'TEST_LENDER'

/** Undefined without the runner, and while another test of the file has it. */
export async function borrow<Lent>(what: string): Promise<Lent | undefined> {
  const lender = process.env[lenderVariable]
  if (lender === undefined) return undefined
  const response = await fetch(`${lender}/${what}`, { method: 'POST' })
  const text = await response.text()
  if (!response.ok) throw new Error(`the runner lends no ${what}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

export async function giveBack(what: string): Promise<void> {
  await fetch(`${process.env[lenderVariable]}/${what}`, { method: 'DELETE' })
}

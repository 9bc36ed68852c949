/** An error that stops the start and can be fixed by the operator. Its message is one sentence that names the remedy. */
export class StartError extends Error {
  override name = 'StartError'
}

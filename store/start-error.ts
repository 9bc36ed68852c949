/** An error that stops the start and can be mended from outside: its message is one clear sentence that names the remedy. */
export class StartError extends Error {
  override name = 'StartError'
}

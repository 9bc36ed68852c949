/** Whether somebody can see the page: a hidden tab asks for nothing, and catches up when it is shown. */

/** Tells at once, and at each change. Returns a function that ends it. */
export function whileVisible(onChange: (isVisible: boolean) => void): () => void {
  const tell = () => onChange(document.visibilityState === 'visible')
  document.addEventListener('visibilitychange', tell)
  tell()
  return () => document.removeEventListener('visibilitychange', tell)
}

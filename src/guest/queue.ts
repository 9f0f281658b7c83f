/** Values that come when they come, read one after the other by one reader. */
type Queue<T> = AsyncIterable<T> & {
  readonly length: number;
  push(value: T): void;
  /** Nothing comes after what is in it. */
  end(): void;
};

export function createQueue<T>(taken?: () => void): Queue<T> {
  const values: T[] = [];
  let wake: (() => void) | undefined;
  let over = false;
  const rouse = () => {
    wake?.();
    wake = undefined;
  };
  return {
    get length() {
      return values.length;
    },
    push(value) {
      if (over) return;
      values.push(value);
      rouse();
    },
    end() {
      over = true;
      rouse();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const [value] = values;
        if (values.length > 0) {
          values.shift();
          taken?.();
          yield value as T;
        } else if (over) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

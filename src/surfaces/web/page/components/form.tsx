import type { ComponentChildren, FormHTMLAttributes } from "preact";

type FormProps = Omit<FormHTMLAttributes, "onSubmit"> & {
  submit(): void;
  children: ComponentChildren;
};

/** A form that acts here and loads no other page. */
export function Form({ submit, children, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {children}
    </form>
  );
}

/** Says what went wrong, aloud too; nothing where nothing did. */
export function Trouble({ text, small }: { text: string; small?: true }) {
  if (text === "") return null;
  return small ? (
    <small class="bad" role="alert">
      {text}
    </small>
  ) : (
    <p class="note bad" role="alert">
      {text}
    </p>
  );
}

/** Later commands run it unnamed: scripts, lockfiles, makefiles, CI, test configuration, packages. Asks unless a rule names it. */
export function runsLater(path: string): boolean {
  if (/\/(BUILD|WORKSPACE|BUCK|TARGETS|PANTS)$/.test(path)) return true; // folders are called `build`
  const names = path.toLowerCase().split("/");
  const name = names.at(-1) ?? "";
  if (names.some((name, n) => folders.has(name) || pairs.has(`${names[n - 1]}/${name}`))) return true;
  // `requirements/dev.txt`
  if (names.at(-2) === "requirements" && /\.(txt|in)$/.test(name)) return true;
  return files.has(name) || families.test(name);
}

const folders = new Set(
  (
    "node_modules .venv venv .virtualenv virtualenv site-packages dist-packages __pypackages__ .tox .nox .yarn .circleci " +
    ".buildkite .woodpecker .tekton .drone .mvn"
  ).split(" "),
);

const pairs = new Set(
  ".github/workflows .github/actions .gitea/workflows .forgejo/workflows vendor/bundle gradle/wrapper tools/bazel".split(
    " ",
  ),
);

const files = new Set(
  // Package managers
  (
    "package.json pnpm-workspace.yaml .pnpmfile.cjs .pnpmfile.js .pnp.cjs .pnp.loader.mjs bunfig.toml deno.json deno.jsonc " +
    "pyproject.toml setup.py setup.cfg pdm.toml hatch.toml pipfile composer.json gemfile cargo.toml build.rs pom.xml " +
    "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradlew gradlew.bat mvnw mvnw.cmd build.sbt mix.exs " +
    "package.swift podfile pubspec.yaml sitecustomize.py usercustomize.py flake.nix shell.nix default.nix go.mod go.work " +
    "environment.yml environment.yaml build.zig build.zig.zon directory.build.props directory.build.targets nuget.config " +
    // Their lock files
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock poetry.lock pipfile.lock " +
    "uv.lock pdm.lock pixi.lock pylock.toml cargo.lock gemfile.lock composer.lock go.sum go.work.sum flake.lock mix.lock " +
    "pubspec.lock podfile.lock package.resolved gradle.lockfile packages.lock.json conan.lock " +
    // Build scripts
    "makefile gnumakefile bsdmakefile justfile taskfile.yml taskfile.yaml rakefile gruntfile.js gulpfile.js cmakelists.txt " +
    "meson.build sconstruct wscript configure configure.ac configure.in autogen.sh vagrantfile procfile tiltfile earthfile turbo.json nx.json " +
    "lerna.json docker-compose.yml docker-compose.yaml compose.yml compose.yaml noxfile.py dodo.py fabfile.py " +
    "workspace.bazel module.bazel build.bazel rust-toolchain rust-toolchain.toml build.xml ivy.xml magefile.go taskfile.dist.yml " +
    "devbox.json devenv.nix brewfile snakefile fastfile dangerfile rebar.config project.clj deps.edn bb.edn build.sc build.mill " +
    "stack.yaml cabal.project setup.hs makefile.pl build.pl tasks.py .hgrc skaffold.yaml " +
    // CI
    ".gitlab-ci.yml .travis.yml appveyor.yml .appveyor.yml azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .drone.yml " +
    "cloudbuild.yaml cloudbuild.yml buildspec.yml .woodpecker.yml .cirrus.yml codemagic.yaml wercker.yml " +
    // Test runners
    "pytest.ini tox.ini conftest.py .coveragerc .rspec .mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml karma.conf.js " +
    ".rubocop.yml .simplecov phpunit.xml phpunit.xml.dist codeception.yml .nycrc .taprc ava.config.js"
  ).split(" "),
);

/** `jest.config.ts` and its like; makefiles and other build files under other names; start files of Python's packages. */
const families =
  /^(jest|vitest|vite|playwright|cypress|wdio|nightwatch|ava|mocha|karma|webpack|rollup|babel|esbuild|tsup|rspack|eslint|prettier|stylelint|postcss|tailwind|next|nuxt|svelte|astro|remix|metro|gatsby|vue|lint-staged|commitlint|release|semantic-release)\.config\.[cm]?[jt]sx?$|^\.(eslintrc|babelrc|prettierrc|stylelintrc|lintstagedrc|commitlintrc|releaserc)(\.[cm]?js|\.json|\.ya?ml)?$|\.(mk|pth|gradle|gradle\.kts|cmake|gemspec|podspec|csproj|fsproj|vbproj|vcxproj|targets)$|^(gnu)?makefile\.|^(docker|container)file([.-].+)?$|\.(docker|container)file$|^(requirements|constraints)([._-].*)?\.(txt|in)$|^jest\.setup\.|^vitest\.(setup|workspace)\./;

// The prose linter: searches the text of Markdown files for the phrases in .ci/words.yaml. docs/add/style.md explains it.
import { readFileSync } from "node:fs";
import { load } from "js-yaml";

const words = load(readFileSync(new URL(".ci/words.yaml", import.meta.url), "utf8"));

const rule = ({ pattern, write, case: sensitive }) => ({
  name: "docs/add/style.md",
  message: `write "${write}"`,
  searchPattern: `/(?<![\\w/.-])(?:${pattern.replaceAll(" ", "\\s+")})(?![\\w/-])/${sensitive ? "g" : "gi"}`,
  searchScope: "text",
});

export default {
  globs: ["**/*.md"],
  ignores: [
    "CHANGELOG.md", // history
  ],
  gitignore: true,
  noBanner: true,
  noProgress: true,
  customRules: ["markdownlint-rule-search-replace"],
  config: { default: false, "search-replace": { rules: words.map(rule) } },
};

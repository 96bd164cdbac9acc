// Validates OpenAPI documents with @seriousme/openapi-schema-validator: prints the errors of each file.
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";

let failed = 0;
for (const file of process.argv.slice(2)) {
  const result = await new Validator().validate(JSON.parse(readFileSync(file, "utf8")));
  if (!result.valid) {
    failed += 1;
    console.log(`${file}: ${JSON.stringify(result.errors).slice(0, 1000)}`);
  }
}
process.exit(failed ? 1 : 0);

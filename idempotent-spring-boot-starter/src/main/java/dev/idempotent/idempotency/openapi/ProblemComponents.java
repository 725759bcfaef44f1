package dev.idempotent.idempotency.openapi;

import java.util.LinkedHashMap;
import java.util.Map;

import dev.idempotent.idempotency.web.OperationDescription.KnownProblem;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.examples.Example;
import io.swagger.v3.oas.models.media.Schema;

/**
 * The schema and the examples of problems, which operations refer to.
 */
final class ProblemComponents {

	private static final String SCHEMA = "IdempotencyProblem";

	private ProblemComponents() {
	}

	/**
	 * Returns a reference to the schema of all problems.
	 */
	static Schema<?> schema(Components components) {
		if (components.getSchemas() == null || !components.getSchemas().containsKey(SCHEMA)) {
			components.addSchemas(SCHEMA, Schemas.object()
				.description("Problem details of RFC 9457.")
				.addProperty("type", Schemas.text().format("uri").description("Identifies the kind of the problem."))
				.addProperty("title", Schemas.text())
				.addProperty("status", Schemas.integer())
				.addProperty("detail", Schemas.text().description("What happened and what to do."))
				.addProperty("instance", Schemas.text().format("uri").description("Identifies this response."))
				.addProperty("retryable",
						Schemas.truth()
							.description("Whether the same request, sent again with the same key, can succeed."))
				.addRequiredItem("type")
				.addRequiredItem("status")
				.addRequiredItem("retryable"));
		}
		return new Schema<>().$ref(SCHEMA);
	}

	/**
	 * Returns a reference to the example of a problem.
	 */
	static Example example(Components components, KnownProblem problem) {
		String name = "idempotency-" + problem.name();
		if (components.getExamples() == null || !components.getExamples().containsKey(name)) {
			Map<String, Object> members = new LinkedHashMap<>();
			members.put("type", problem.type());
			members.put("title", problem.title());
			members.put("status", problem.status());
			members.put("retryable", problem.retryable());
			components.addExamples(name, new Example().summary(problem.title()).value(members));
		}
		return new Example().$ref(name);
	}

}

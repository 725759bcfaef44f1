package dev.idempotent.idempotency.openapi;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.web.IdempotencyWebSettings;
import dev.idempotent.idempotency.web.IdempotentOperations;
import dev.idempotent.idempotency.web.OperationDescription;
import dev.idempotent.idempotency.web.OperationDescription.KnownProblem;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.examples.Example;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import org.jspecify.annotations.Nullable;
import org.springdoc.core.customizers.GlobalOpenApiCustomizer;
import org.springdoc.core.customizers.GlobalOperationCustomizer;
import org.springframework.http.HttpHeaders;
import org.springframework.web.method.HandlerMethod;

/**
 * Adds the headers and the problems of idempotent operations to each OpenAPI document of
 * the application.
 */
public final class IdempotencyOpenApiCustomizer implements GlobalOperationCustomizer, GlobalOpenApiCustomizer {

	/**
	 * Carries the handler to the second step, which knows the path. Then it is removed.
	 */
	private static final String HANDLER = "x-idempotency-handler";

	private static final String SCHEMA = "IdempotencyProblem";

	private static final String PROBLEM_JSON = "application/problem+json";

	private static final Set<String> FORMS = Set.of("application/x-www-form-urlencoded", "multipart/form-data");

	private final IdempotentOperations operations;

	private final IdempotencyWebSettings settings;

	/**
	 * Creates the customizer.
	 * @param operations the operations
	 * @param settings the settings that they are described with
	 */
	public IdempotencyOpenApiCustomizer(IdempotentOperations operations, IdempotencyWebSettings settings) {
		this.operations = operations;
		this.settings = settings;
	}

	@Override
	public Operation customize(Operation operation, HandlerMethod handler) {
		operation.addExtension(HANDLER, handler);
		return operation;
	}

	@Override
	public void customise(OpenAPI document) {
		if (document.getPaths() != null) {
			document.getPaths().forEach((path, item) -> customise(document, path, item));
		}
	}

	private void customise(OpenAPI document, String path, PathItem item) {
		item.readOperationsMap().forEach((method, operation) -> {
			OperationDescription description = OperationDescription.of(this.operations, this.settings,
					takeHandler(operation), method.name(), path);
			if (description != null) {
				complete(operation, description, componentsOf(document));
			}
		});
	}

	private static @Nullable HandlerMethod takeHandler(Operation operation) {
		Map<String, Object> extensions = operation.getExtensions();
		Object handler = (extensions != null) ? extensions.remove(HANDLER) : null;
		if (extensions != null && extensions.isEmpty()) {
			operation.setExtensions(null);
		}
		return (HandlerMethod) handler;
	}

	private static Components componentsOf(OpenAPI document) {
		if (document.getComponents() == null) {
			document.setComponents(new Components());
		}
		return document.getComponents();
	}

	/**
	 * What the application has documented itself stays.
	 */
	private static void complete(Operation operation, OperationDescription description, Components components) {
		description.headers().forEach((header) -> addHeader(operation, header));
		addFormField(operation, description.formField());
		ApiResponses responses = Optional.ofNullable(operation.getResponses()).orElseGet(ApiResponses::new);
		operation.setResponses(responses);
		responses.forEach((status, response) -> {
			if (status.startsWith("2") || status.startsWith("3")) {
				addReplayed(response);
			}
		});
		description.problems()
			.stream()
			.collect(Collectors.groupingBy(KnownProblem::status, TreeMap::new, Collectors.toList()))
			.forEach((status, problems) -> addProblems(
					responses.computeIfAbsent(String.valueOf(status), (code) -> new ApiResponse()), problems,
					components));
	}

	private static void addHeader(Operation operation, OperationDescription.Header header) {
		List<Parameter> declared = Optional.ofNullable(operation.getParameters()).orElse(List.of());
		Optional<Parameter> own = declared.stream()
			.filter((parameter) -> "header".equals(parameter.getIn())
					&& header.name().equalsIgnoreCase(parameter.getName()))
			.findAny();
		own.ifPresentOrElse((parameter) -> parameter.setRequired(header.required()),
				() -> operation.addParametersItem(new Parameter().in("header")
					.name(header.name())
					.required(header.required())
					.description(header.text())
					.schema(text().minLength(1).maxLength(header.maxLength()))));
	}

	private static void addFormField(Operation operation, @Nullable String field) {
		if (field == null || operation.getRequestBody() == null || operation.getRequestBody().getContent() == null) {
			return;
		}
		operation.getRequestBody().getContent().forEach((type, content) -> {
			if (FORMS.contains(type)) {
				Schema<?> token = object().addProperty(field, text().description("The one-time token of the page."));
				content.setSchema((content.getSchema() != null)
						? new Schema<>().allOf(List.of(content.getSchema(), token)) : token);
			}
		});
	}

	private static void addReplayed(ApiResponse response) {
		addHeader(response, OperationDescription.REPLAYED_HEADER,
				new Header()
					.description("Only on a replay: this is the stored response to an earlier request with the same "
							+ "idempotency key, and nothing was done again.")
					.schema(constant("true")));
	}

	private static void addProblems(ApiResponse response, List<KnownProblem> problems, Components components) {
		if (response.getDescription() == null) {
			response.setDescription(problems.stream().map(KnownProblem::title).collect(Collectors.joining(". ")) + ".");
		}
		if (problems.stream().anyMatch(KnownProblem::retryable)) {
			addHeader(response, HttpHeaders.RETRY_AFTER,
					new Header().description("If the problem is retryable: when to send the request again, in seconds.")
						.schema(integer()));
		}
		Content content = Optional.ofNullable(response.getContent()).orElseGet(Content::new);
		response.setContent(content);
		MediaType own = content.computeIfAbsent(PROBLEM_JSON, (type) -> new MediaType().schema(schema(components)));
		if (own.getExample() == null) {
			problems.forEach((problem) -> own.addExamples(problem.name(), example(components, problem)));
		}
	}

	private static void addHeader(ApiResponse response, String name, Header header) {
		if (response.getHeaders() == null || !response.getHeaders().containsKey(name)) {
			response.addHeaderObject(name, header);
		}
	}

	/**
	 * Returns a reference to the schema of all problems.
	 */
	private static Schema<?> schema(Components components) {
		if (components.getSchemas() == null || !components.getSchemas().containsKey(SCHEMA)) {
			components.addSchemas(SCHEMA, object().description("Problem details of RFC 9457.")
				.addProperty("type", text().format("uri").description("Identifies the kind of the problem."))
				.addProperty("title", text())
				.addProperty("status", integer())
				.addProperty("detail", text().description("What happened and what to do."))
				.addProperty("instance", text().format("uri").description("Identifies this response."))
				.addProperty("retryable",
						truth().description("Whether the same request, sent again with the same key, can succeed."))
				.addRequiredItem("type")
				.addRequiredItem("status")
				.addRequiredItem("retryable"));
		}
		return new Schema<>().$ref(SCHEMA);
	}

	/**
	 * Returns a reference to the example of a problem.
	 */
	private static Example example(Components components, KnownProblem problem) {
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

	private static Schema<Object> text() {
		return ofType("string");
	}

	private static Schema<Object> constant(String value) {
		Schema<Object> schema = text();
		schema.setEnum(List.of(value));
		return schema;
	}

	private static Schema<Object> integer() {
		return ofType("integer");
	}

	private static Schema<Object> truth() {
		return ofType("boolean");
	}

	private static Schema<Object> object() {
		return ofType("object");
	}

	/**
	 * OpenAPI 3.0 has one type, and OpenAPI 3.1 a set of types.
	 */
	private static Schema<Object> ofType(String type) {
		Schema<Object> schema = new Schema<>();
		schema.type(type).addType(type);
		return schema;
	}

}

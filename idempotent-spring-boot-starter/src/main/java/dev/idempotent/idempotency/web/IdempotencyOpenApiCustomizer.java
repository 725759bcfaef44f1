package dev.idempotent.idempotency.web;

import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.KeySource;
import dev.idempotent.idempotency.web.IdempotentOperations.Target;
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
import org.springframework.http.server.PathContainer;
import org.springframework.web.bind.annotation.RequestMethod;
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

	private static final String KEY = "Identifies the operation: one unique value per operation, such as a UUID, and "
			+ "the same value when it is retried.";

	private static final int SERVER_ERROR = 500;

	private static final Set<String> FORMS = Set.of("application/x-www-form-urlencoded", "multipart/form-data");

	private final IdempotentOperations operations;

	private final IdempotencyWebSettings settings;

	private final ProblemTypes types;

	/**
	 * Creates the customizer.
	 * @param operations the operations
	 * @param settings the settings that they are described with
	 */
	public IdempotencyOpenApiCustomizer(IdempotentOperations operations, IdempotencyWebSettings settings) {
		this.operations = operations;
		this.settings = settings;
		this.types = new ProblemTypes(settings.problemBaseUri(), settings.problemRenderer());
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
			Target target = this.operations.find(takeHandler(operation), RequestMethod.valueOf(method.name()),
					PathContainer.parsePath(path));
			if (target != null) {
				complete(operation, target, componentsOf(document));
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
	private void complete(Operation operation, Target target, Components components) {
		if (target.operation().keyExpression() == null) {
			addKey(operation, target.operation().keySource());
		}
		target.operation().fingerprinter().headers().sentByClients().forEach((name) -> addIncluded(operation, name));
		if (target.cancelled() != null) {
			addHeader(operation, Cancellation.HEADER, true, Cancellation.MAX_LENGTH,
					"The idempotency key of the request to cancel, and what is known of its outcome, such as "
							+ "\"key\"; outcome=unknown.");
		}
		ApiResponses responses = Optional.ofNullable(operation.getResponses()).orElseGet(ApiResponses::new);
		operation.setResponses(responses);
		responses.forEach((status, response) -> {
			if (status.startsWith("2") || status.startsWith("3")) {
				addReplayed(response);
			}
		});
		if (this.settings.problemRenderer() != null) {
			// Only the application knows their form.
			return;
		}
		problems(target, this.operations.requiresCaller(target)).stream()
			.filter((problem) -> problem.status() != SERVER_ERROR)
			.collect(Collectors.groupingBy(Problem::status, TreeMap::new, Collectors.toList()))
			.forEach((status, problems) -> addProblems(
					responses.computeIfAbsent(String.valueOf(status), (code) -> new ApiResponse()), problems,
					components));
	}

	private void addKey(Operation operation, KeySource source) {
		switch (source) {
			case HEADER -> addHeader(operation, this.settings.header(), true, KeyHeader.MAX_LENGTH, KEY);
			case HEADER_OR_FINGERPRINT -> addHeader(operation, this.settings.header(), false, KeyHeader.MAX_LENGTH,
					KEY + " Without it, an equal request counts as a retry.");
			case TOKEN -> {
				addHeader(operation, this.settings.header(), false, KeyHeader.MAX_LENGTH,
						"The one-time token of the page, unless the form field " + RequestTokens.FIELD + " has it.");
				addFormField(operation, RequestTokens.FIELD);
			}
			case FINGERPRINT, TOOL_CALL -> {
			}
		}
	}

	/**
	 * Only the handler knows whether it needs the header.
	 */
	private static void addIncluded(Operation operation, String name) {
		if (declared(operation, name).isEmpty()) {
			operation.addParametersItem(new Parameter().in("header")
				.name(name)
				.required(false)
				.description("Part of the operation: a retry repeats its value.")
				.schema(text()));
		}
	}

	private static Optional<Parameter> declared(Operation operation, String name) {
		return Optional.ofNullable(operation.getParameters())
			.orElse(List.of())
			.stream()
			.filter((parameter) -> "header".equals(parameter.getIn()) && name.equalsIgnoreCase(parameter.getName()))
			.findAny();
	}

	private static void addHeader(Operation operation, String name, boolean required, int maxLength, String meaning) {
		declared(operation, name).ifPresentOrElse((parameter) -> parameter.setRequired(required),
				() -> operation.addParametersItem(new Parameter().in("header")
					.name(name)
					.required(required)
					.description(meaning)
					.schema(text().minLength(1).maxLength(maxLength))));
	}

	private static void addFormField(Operation operation, String field) {
		if (operation.getRequestBody() == null || operation.getRequestBody().getContent() == null) {
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

	private static Set<Problem> problems(Target target, boolean callerRequired) {
		IdempotentOperation operation = target.operation();
		boolean derived = operation.keyExpression() != null;
		boolean sent = !derived && operation.keySource() != KeySource.FINGERPRINT;
		Set<Problem> problems = EnumSet.of(Problem.REQUEST_MALFORMED, Problem.REQUEST_TOO_LARGE, Problem.IN_PROGRESS,
				Problem.RESPONSE_NOT_KEPT, Problem.OVERLOADED, Problem.STORE_UNREACHABLE);
		if (sent) {
			problems.add(Problem.KEY_MALFORMED);
		}
		if (sent || derived) {
			problems.add(Problem.KEY_MISSING);
			if (!operation.fingerprinter().ignoresEverything() || target.cancelled() != null) {
				problems.add(Problem.KEY_REUSED);
			}
		}
		if (sent && operation.keySource() == KeySource.TOKEN) {
			problems.addAll(Set.of(Problem.TOKEN_REFUSED, Problem.TOKEN_EXPIRED));
		}
		if (callerRequired) {
			problems.add(Problem.CALLER_REQUIRED);
		}
		if (target.paired() && target.cancelled() == null) {
			problems.add(Problem.CANCELLED);
		}
		if (operation.transactions() != null) {
			problems.add(Problem.OUTCOME_UNKNOWN);
		}
		return problems;
	}

	private static void addReplayed(ApiResponse response) {
		addHeader(response, CapturedResponse.REPLAYED,
				new Header()
					.description("Only on a replay: this is the stored response to an earlier request with the same "
							+ "idempotency key, and nothing was done again.")
					.schema(constant("true")));
	}

	private void addProblems(ApiResponse response, List<Problem> problems, Components components) {
		if (response.getDescription() == null) {
			response.setDescription(problems.stream().map(Problem::title).collect(Collectors.joining(". ")) + ".");
		}
		if (problems.stream().anyMatch(Problem::isRetryable)) {
			addHeader(response, HttpHeaders.RETRY_AFTER,
					new Header().description("If the problem is retryable: when to send the request again, in seconds.")
						.schema(integer()));
		}
		Content content = Optional.ofNullable(response.getContent()).orElseGet(Content::new);
		response.setContent(content);
		MediaType own = content.computeIfAbsent(PROBLEM_JSON, (type) -> new MediaType().schema(schema(components)));
		if (own.getExample() == null) {
			problems.forEach((problem) -> own.addExamples(problem.slug(), example(components, problem)));
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
	private Example example(Components components, Problem problem) {
		String name = "idempotency-" + problem.slug();
		if (components.getExamples() == null || !components.getExamples().containsKey(name)) {
			Map<String, Object> members = new LinkedHashMap<>();
			members.put("type", this.types.of(problem));
			members.put("title", problem.title());
			members.put("status", problem.status());
			members.put("retryable", problem.isRetryable());
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

package dev.idempotent.idempotency.openapi;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

import dev.idempotent.idempotency.web.OperationDescription;
import dev.idempotent.idempotency.web.OperationDescription.KnownProblem;
import io.swagger.v3.oas.models.Components;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.headers.Header;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import org.springframework.http.HttpHeaders;

/**
 * An operation of an OpenAPI document. What the application has documented itself stays.
 *
 * @param operation the operation
 * @param description what is added
 */
record DocumentedOperation(Operation operation, OperationDescription description) {

	private static final String PROBLEM_JSON = "application/problem+json";

	private static final Set<String> FORMS = Set.of("application/x-www-form-urlencoded", "multipart/form-data");

	void complete(Components components) {
		this.description.headers().forEach(this::addHeader);
		addFormField();
		ApiResponses responses = Optional.ofNullable(this.operation.getResponses()).orElseGet(ApiResponses::new);
		this.operation.setResponses(responses);
		responses.forEach((status, response) -> {
			if (status.startsWith("2") || status.startsWith("3")) {
				addReplayed(response);
			}
		});
		this.description.problems()
			.stream()
			.collect(Collectors.groupingBy(KnownProblem::status, TreeMap::new, Collectors.toList()))
			.forEach((status, problems) -> addProblems(
					responses.computeIfAbsent(String.valueOf(status), (code) -> new ApiResponse()), problems,
					components));
	}

	private void addHeader(OperationDescription.Header header) {
		List<Parameter> declared = Optional.ofNullable(this.operation.getParameters()).orElse(List.of());
		Optional<Parameter> own = declared.stream()
			.filter((parameter) -> "header".equals(parameter.getIn())
					&& header.name().equalsIgnoreCase(parameter.getName()))
			.findAny();
		own.ifPresentOrElse((parameter) -> parameter.setRequired(header.required()),
				() -> this.operation.addParametersItem(new Parameter().in("header")
					.name(header.name())
					.required(header.required())
					.description(header.text())
					.schema(Schemas.text().minLength(1).maxLength(header.maxLength()))));
	}

	private void addFormField() {
		String field = this.description.formField();
		if (field == null || this.operation.getRequestBody() == null
				|| this.operation.getRequestBody().getContent() == null) {
			return;
		}
		this.operation.getRequestBody().getContent().forEach((type, content) -> {
			if (FORMS.contains(type)) {
				Schema<?> token = Schemas.object()
					.addProperty(field, Schemas.text().description("The one-time token of the page."));
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
					.schema(Schemas.constant("true")));
	}

	private static void addProblems(ApiResponse response, List<KnownProblem> problems, Components components) {
		if (response.getDescription() == null) {
			response.setDescription(problems.stream().map(KnownProblem::title).collect(Collectors.joining(". ")) + ".");
		}
		if (problems.stream().anyMatch(KnownProblem::retryable)) {
			addHeader(response, HttpHeaders.RETRY_AFTER,
					new Header().description("If the problem is retryable: when to send the request again, in seconds.")
						.schema(Schemas.integer()));
		}
		Content content = Optional.ofNullable(response.getContent()).orElseGet(Content::new);
		response.setContent(content);
		MediaType own = content.computeIfAbsent(PROBLEM_JSON,
				(type) -> new MediaType().schema(ProblemComponents.schema(components)));
		if (own.getExample() == null) {
			problems
				.forEach((problem) -> own.addExamples(problem.name(), ProblemComponents.example(components, problem)));
		}
	}

	private static void addHeader(ApiResponse response, String name, Header header) {
		if (response.getHeaders() == null || !response.getHeaders().containsKey(name)) {
			response.addHeaderObject(name, header);
		}
	}

}

package dev.idempotent.testing;

import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;

import dev.idempotent.documentation.Page;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A problem response as docs/how-it-works.md describes it.
 */
public record DocumentedProblem(String name, int status, boolean retryable) {

	private static final String DEFAULT_BASE_URI = "urn:problem-type:idempotency:";

	private static final String INSTANCE = "urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

	private static final JsonMapper json = JsonMapper.builder().build();

	/**
	 * The rows of the table.
	 */
	public static List<DocumentedProblem> all() {
		return Page.of("docs/how-it-works.md")
			.rows("## Problem responses")
			.stream()
			.map((row) -> new DocumentedProblem(row.get(0).replace("`", ""), Integer.parseInt(row.get(1)),
					row.get(2).equals("yes")))
			.toList();
	}

	public static DocumentedProblem of(String name) {
		return all().stream().filter((row) -> row.name().equals(name)).findAny().orElseThrow();
	}

	/**
	 * Asserts that a response is the problem of this name, with the default type.
	 */
	public static void assertProblem(HttpResponse<byte[]> response, String name) {
		of(name).assertMatches(response, DEFAULT_BASE_URI);
	}

	/**
	 * Asserts that a response is this problem, and repeats nothing of its request.
	 */
	public void assertMatches(HttpResponse<byte[]> response, String baseUri) {
		String type = baseUri + this.name;
		String body = WebApplication.text(response);
		assertThat(response.statusCode()).as(body).isEqualTo(this.status);
		assertThat(response.headers().allValues("Content-Type")).containsExactly("application/problem+json");
		assertThat(response.headers().allValues("Retry-After"))
			.isEqualTo(this.retryable ? List.of("1") : List.<String>of());
		assertThat(response.headers().allValues("Link"))
			.isEqualTo(baseUri.startsWith("http") ? List.of("<" + type + ">; rel=\"describedby\"") : List.<String>of());
		assertThat(members(response)).containsOnlyKeys("type", "title", "status", "detail", "instance", "retryable")
			.containsEntry("type", type)
			.containsEntry("status", this.status)
			.containsEntry("retryable", this.retryable)
			.hasEntrySatisfying("instance", (instance) -> assertThat(instance).asString().matches(INSTANCE));
		assertLeadsToNoSecondOperation(members(response).get("detail"));
		HttpHeaders sent = response.request().headers();
		assertThat(body).doesNotContain(response.request().uri().getPath())
			.satisfies((text) -> assertThat(sent.allValues("Idempotency-Key")).filteredOn((key) -> key.length() > 3)
				.noneMatch(text::contains));
	}

	/**
	 * Asserts that a client that does what a text says does not repeat what an earlier
	 * request may have done.
	 */
	public static void assertLeadsToNoSecondOperation(@Nullable Object detail) {
		assertThat(detail).asString()
			.doesNotContainIgnoringCase("new key")
			.doesNotContainIgnoringCase("new request")
			.satisfies((text) -> assertThat(!text.contains("oad the page again") || text.contains("look its result up")
					|| text.contains("oad the page again only for what you want as a second operation"))
				.as(text)
				.isTrue());
	}

	/**
	 * The members of a problem response.
	 */
	@SuppressWarnings("unchecked")
	public static Map<String, Object> members(HttpResponse<byte[]> response) {
		return json.readValue(response.body(), Map.class);
	}

}

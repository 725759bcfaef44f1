package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.actuate.OutboxEndpointIntegrationTests.Audits;
import dev.idempotent.encryption.PayloadEncryption;
import dev.idempotent.outbox.DeadEvents;
import dev.idempotent.outbox.EventFilter;
import dev.idempotent.outbox.OutboxTopics;
import dev.idempotent.outbox.jdbc.OutboxOperations;
import dev.idempotent.testing.WebApplication;
import dev.idempotent.transaction.OwnTransactions;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for the outbox endpoint with limited access.
 */
class OutboxEndpointAccessTests {

	private static final String CHANGE = "{\"all\":true}";

	@Test
	void showsNoPayloadByDefault() {
		try (WebApplication application = start(OutboxEndpointIntegrationTests.Application.class)) {
			String path = "/payload?state=pending&id=" + insert(application);
			HttpResponse<byte[]> refused = get(application, path);
			assertThat(refused.statusCode()).isEqualTo(403);
			assertThat(WebApplication.text(refused)).contains("management.endpoint.outbox.show-payloads")
				.doesNotContain("secret");
			assertThat(get(application, "/payload").statusCode()).isEqualTo(403);
			assertThat(application.bean(Audits.class).taken()).isEmpty();
		}
	}

	@Test
	void showsPayloadsToCallersWithARoleAndChangesNothingWithReadOnlyAccess() {
		try (WebApplication application = start(Secured.class, WebApplication.WITH_SECURITY,
				"management.endpoint.outbox.access=read-only",
				"management.endpoint.outbox.show-payloads=when-authorized",
				"management.endpoint.outbox.roles=SUPPORT")) {
			String path = "/payload?state=pending&id=" + insert(application);
			assertThat(get(application, path).statusCode()).isEqualTo(401);
			assertThat(get(application, path, as("operator")).statusCode()).isEqualTo(403);
			assertThat(get(application, "/pending", as("operator")).statusCode()).isEqualTo(200);
			assertThat(application.bean(Audits.class).taken()).isEmpty();
			HttpResponse<byte[]> shown = get(application, path, as("support"));
			assertThat(shown.statusCode()).isEqualTo(200);
			assertThat(WebApplication.text(shown)).contains("secret");
			assertThat(application.bean(Audits.class).taken()).singleElement().satisfies((event) -> {
				assertThat(event.getType()).isEqualTo("OUTBOX_PAYLOAD_READ");
				assertThat(event.getPrincipal()).isEqualTo("support");
			});
			assertThat(application.post("/actuator/outbox/discard-blocked", CHANGE, as("operator")).statusCode())
				.isEqualTo(405);
			assertThat(application.bean(Audits.class).taken()).isEmpty();
		}
	}

	@Test
	void auditsThePrincipalOfAChange() {
		try (WebApplication application = start(Secured.class, WebApplication.WITH_SECURITY)) {
			assertThat(application.post("/actuator/outbox/discard-blocked", CHANGE).statusCode()).isEqualTo(401);
			assertThat(application.bean(Audits.class).taken()).isEmpty();
			assertThat(application.post("/actuator/outbox/discard-blocked", CHANGE, as("operator")).statusCode())
				.isEqualTo(200);
			assertThat(application.bean(Audits.class).taken()).singleElement()
				.satisfies((event) -> assertThat(event.getPrincipal()).isEqualTo("operator"));
		}
	}

	@Test
	void takesNoOtherFailureForAnInvalidPage() {
		DataSource dataSource = new SimpleDriverDataSource();
		DeadEvents failing = new DeadEvents() {

			@Override
			public DeadPage list(EventFilter filter, long after, int limit) {
				throw new IllegalArgumentException("A fault of the code");
			}

			@Override
			public int retry(EventFilter filter) {
				return 0;
			}

			@Override
			public int discard(EventFilter filter) {
				return 0;
			}

		};
		OutboxEndpoint endpoint = new OutboxEndpoint(
				new OutboxOperations(new OwnTransactions(dataSource), "outbox_", PayloadEncryption.NONE), failing,
				new OutboxOperations(new OwnTransactions(dataSource), "outbox_", PayloadEncryption.NONE),
				new OutboxTopics(List.of(), null, (type) -> List.of()), () -> null, (event) -> {
				}, new OutboxEndpoint.Properties(Show.NEVER, Set.of()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> endpoint.list("dead", null, null, null, null, null, null, SecurityContext.NONE));
	}

	/**
	 * Inserts an event that blocks its key.
	 */
	private static UUID insert(WebApplication application) {
		UUID id = UUID.randomUUID();
		application.bean(JdbcTemplate.class)
			.update("insert into outbox_event (event_id, topic, type, payload, due_at) values (?, 'test:orders', 'a', ?, "
					+ "timestamp with time zone '9999-12-31 00:00:00+00')", id,
					"secret".getBytes(StandardCharsets.UTF_8));
		return id;
	}

	private static HttpResponse<byte[]> get(WebApplication application, String path, String... headers) {
		HttpRequest.Builder request = application.request("/actuator/outbox" + path).GET();
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return application.send(request.build());
	}

	private static String[] as(String user) {
		return new String[] { "Authorization", SecuredEndpoints.basic(user) };
	}

	private static WebApplication start(Class<?> source, String... properties) {
		List<String> all = new ArrayList<>(List.of(WebApplication.WITH_DATABASE, "idempotent.enabled=false",
				"spring.datasource.generate-unique-name=true", "idempotent.outbox.initialize-schema=always",
				"management.endpoints.web.exposure.include=outbox", "management.health.redis.enabled=false"));
		all.addAll(List.of(properties));
		return WebApplication.start(source, List::of, all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@Import(SecuredEndpoints.class)
	static class Secured extends OutboxEndpointIntegrationTests.Application {

	}

}

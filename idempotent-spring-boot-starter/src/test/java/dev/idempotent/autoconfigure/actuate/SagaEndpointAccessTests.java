package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.autoconfigure.actuate.SagaShop.Audits;
import dev.idempotent.autoconfigure.actuate.SagaShop.Checkout;
import dev.idempotent.autoconfigure.actuate.SagaShop.Warehouse;
import dev.idempotent.saga.SagaHaltedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.engine.SagaAdministration;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Tests for the saga endpoint with limited access.
 */
class SagaEndpointAccessTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=saga";

	@Test
	void isNotExposedByDefault() {
		try (WebApplication application = start(SagaShop.class)) {
			String id = halt(application);
			assertThat(get(application, "").statusCode()).isEqualTo(404);
			assertThat(retry(application, id).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void changesNothingWithReadOnlyAccess() {
		try (WebApplication application = start(SagaShop.class, EXPOSED, "management.endpoint.saga.access=read-only")) {
			String id = halt(application);
			assertThat(get(application, "").statusCode()).isEqualTo(200);
			assertThat(get(application, "/" + id).statusCode()).isEqualTo(200);
			assertThat(retry(application, id).statusCode()).isBetween(404, 405);
			assertThat(application.bean(SagaAdministration.class).list(SagaStatus.HALTED, null, null, 10).sagas())
				.hasSize(1);
		}
	}

	@Test
	void auditsThePrincipalOfASecuredEndpoint() {
		try (WebApplication application = start(SecuredShop.class, EXPOSED, WebApplication.WITH_SECURITY)) {
			String id = halt(application);
			assertThat(retry(application, id).statusCode()).isEqualTo(401);
			assertThat(application.bean(Audits.class).events()).isEmpty();
			assertThat(retry(application, id, "Authorization", SecuredEndpoints.basic("operator")).statusCode())
				.isEqualTo(200);
			assertThat(application.bean(Audits.class).events()).singleElement()
				.satisfies((event) -> assertThat(event.getPrincipal()).isEqualTo("operator"));
		}
	}

	private static String halt(WebApplication application) {
		application.bean(Warehouse.class).acceptReturns(false);
		return catchThrowableOfType(SagaHaltedException.class,
				() -> application.bean(Checkout.class).place("4711", "refused"))
			.id()
			.digest();
	}

	private static HttpResponse<byte[]> get(WebApplication application, String path) {
		return application.send(application.request("/actuator/saga" + path).GET().build());
	}

	private static HttpResponse<byte[]> retry(WebApplication application, String id, String... headers) {
		return application.post("/actuator/saga/" + id + "/retry", "", headers);
	}

	private static WebApplication start(Class<?> source, String... properties) {
		List<String> all = new ArrayList<>(List.of(WebApplication.WITH_DATABASE, "idempotent.store=jdbc",
				"spring.datasource.generate-unique-name=true", "management.health.redis.enabled=false"));
		all.addAll(List.of(properties));
		return WebApplication.start(source, List::of, all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@Import(SecuredEndpoints.class)
	static class SecuredShop extends SagaShop {

	}

}

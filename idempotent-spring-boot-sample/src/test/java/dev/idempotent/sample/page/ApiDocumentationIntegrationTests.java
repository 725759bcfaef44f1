package dev.idempotent.sample.page;

import java.util.List;
import java.util.Map;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@ShopTest
class ApiDocumentationIntegrationTests {

	private final ShopClient shop;

	private final DocumentContext document;

	ApiDocumentationIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
		this.document = JsonPath.parse(this.shop.get("/v3/api-docs").body());
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/orders", "/api/orders/{orderId}/payment", "/gateway/charges" })
	void showsTheKeyAndTheProblemsOfAnOperation(String path) {
		String operation = "$.paths['" + path + "'].post";
		assertThat(this.document.<List<Boolean>>read(
				operation + ".parameters[?(@.name == 'Idempotency-Key' && @.in == 'header')].required"))
			.containsExactly(true);
		for (String status : List.of("400", "409", "413", "422", "503")) {
			assertThat(this.document.<String>read(
					operation + ".responses['" + status + "'].content['application/problem+json'].schema.$ref"))
				.as(status)
				.endsWith("/IdempotencyProblem");
		}
	}

	@Test
	void showsNoKeyWhereTheServerDerivesIt() {
		assertThat(this.document.<Map<String, Object>>read("$.paths['/api/feedback'].post")).containsKey("responses")
			.doesNotContainKey("parameters");
	}

	@Test
	void hasAPage() {
		assertThat(this.shop.get("/swagger-ui/index.html").body()).contains("swagger-ui");
	}

}

package dev.idempotent.sample.payment;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.util.ContentCachingResponseWrapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The keys that the gateway receives when its responses are lost.
 */
@ShopTest
@Import(GatewayCallsIntegrationTests.LossyNetwork.class)
class GatewayCallsIntegrationTests {

	private final ShopClient shop;

	private final JdbcClient jdbc;

	private final LossyNetwork network;

	private String orderId = "";

	GatewayCallsIntegrationTests(@LocalServerPort int port, @Autowired JdbcClient jdbc,
			@Autowired LossyNetwork network) {
		this.shop = new ShopClient(port);
		this.jdbc = jdbc;
		this.network = network;
	}

	@BeforeEach
	void placeOrder() {
		this.orderId = this.shop.placeOrder(ShopClient.newUser());
		this.network.keys.clear();
		this.network.losses.set(0);
	}

	@Test
	void areEqualForAllAttemptsAtACall() {
		this.network.losses.set(2);
		assertThat(pay(ShopClient.newKey()).statusCode()).isEqualTo(200);
		assertThat(this.network.keys).hasSize(3).containsOnly(this.network.keys.get(0));
		assertThat(charges()).isOne();
	}

	@Test
	void areEqualForAllRetriesOfAPayment() {
		String key = ShopClient.newKey();
		this.network.losses.set(4);
		assertThat(pay(key).statusCode()).isEqualTo(500);
		assertThat(pay(key).statusCode()).isEqualTo(200);
		assertThat(this.network.keys).hasSize(5).containsOnly(this.network.keys.get(0));
		assertThat(charges()).isOne();
	}

	@Test
	void differForOtherPayments() {
		pay(ShopClient.newKey());
		this.orderId = this.shop.placeOrder(ShopClient.newUser());
		String key = ShopClient.newKey();
		pay(key);
		assertThat(this.network.keys).hasSize(2).doesNotHaveDuplicates().doesNotContain(key);
	}

	private HttpResponse<String> pay(String key) {
		return this.shop.post("/api/orders/" + this.orderId + "/payment", "{\"method\": \"card\"}", "Idempotency-Key",
				key);
	}

	private long charges() {
		return this.jdbc.sql("select count(*) from charges where order_id = ?")
			.param(UUID.fromString(this.orderId))
			.query(Long.class)
			.single();
	}

	/**
	 * Passes requests to the gateway and drops responses.
	 */
	@Order(Ordered.HIGHEST_PRECEDENCE)
	static class LossyNetwork extends OncePerRequestFilter {

		private final List<String> keys = new CopyOnWriteArrayList<>();

		private final AtomicInteger losses = new AtomicInteger();

		@Override
		protected boolean shouldNotFilter(HttpServletRequest request) {
			return !request.getRequestURI().startsWith("/gateway/");
		}

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			this.keys.add(request.getHeader("Idempotency-Key"));
			if (this.losses.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
				chain.doFilter(request, new ContentCachingResponseWrapper(response));
				response.sendError(HttpServletResponse.SC_BAD_GATEWAY);
			}
			else {
				chain.doFilter(request, response);
			}
		}

	}

}

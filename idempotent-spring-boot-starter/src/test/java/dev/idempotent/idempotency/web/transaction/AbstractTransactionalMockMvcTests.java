package dev.idempotent.idempotency.web.transaction;

import java.util.NoSuchElementException;
import java.util.UUID;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.ImportHandlers;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.ForgetfulStore;
import dev.idempotent.idempotency.web.IdempotencyFilter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.webmvc.autoconfigure.WebMvcAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.WebApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A test that rolls back also rolls back the work of the handlers that it calls.
 */
@Transactional
abstract class AbstractTransactionalMockMvcTests {

	@Autowired
	private WebApplicationContext context;

	@Autowired
	private JdbcTemplate jdbc;

	private MockMvc mvc;

	private final String key = UUID.randomUUID().toString();

	@BeforeEach
	void setUp() {
		this.mvc = MockMvcBuilders.webAppContextSetup(this.context)
			.addFilters(this.context.getBean(IdempotencyFilter.class))
			.build();
	}

	@Test
	void seesTheWorkAndTheReplay() throws Exception {
		assertThat(post("/shop/orders").getStatus()).isEqualTo(201);
		MockHttpServletResponse retry = post("/shop/orders");
		assertThat(retry.getStatus()).isEqualTo(201);
		assertThat(retry.getHeader("Idempotent-Replayed")).isEqualTo("true");
		assertThat(rows()).isOne();
	}

	@Test
	void servesOtherRequestsAfterAFailure() throws Exception {
		assertThat(post("/shop/missing").getStatus()).isEqualTo(404);
		assertThat(post("/shop/missing").getStatus()).isEqualTo(404);
		assertThat(post("/shop/orders", "other").getStatus()).isEqualTo(201);
	}

	@AfterTransaction
	void leavesNothingBehind() throws Exception {
		assertThat(rows()).isZero();
		assertThat(this.jdbc.queryForObject("select count(*) from idempotency_record", Long.class)).isZero();
		MockHttpServletResponse afterwards = post("/shop/orders");
		assertThat(afterwards.getStatus()).isEqualTo(201);
		assertThat(afterwards.getHeader("Idempotent-Replayed")).isNull();
		assertThat(rows()).isOne();
		this.jdbc.update("delete from placed_order");
		this.jdbc.update("delete from idempotency_record");
	}

	long rows() {
		return this.jdbc.queryForObject("select count(*) from placed_order", Long.class);
	}

	MockHttpServletResponse post(String path) throws Exception {
		return post(path, this.key);
	}

	private MockHttpServletResponse post(String path, String key) throws Exception {
		return this.mvc.perform(MockMvcRequestBuilders.post(path).header("Idempotency-Key", key))
			.andReturn()
			.getResponse();
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ JacksonAutoConfiguration.class, WebMvcAutoConfiguration.class,
			DataSourceAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
			TransactionAutoConfiguration.class })
	@ImportHandlers
	@Import(Orders.class)
	static class Shop {

		@Bean
		ForgetfulStore inFront() {
			return new ForgetfulStore();
		}

	}

	@RestController
	static class Orders {

		private final JdbcTemplate jdbc;

		Orders(DataSource dataSource) {
			this.jdbc = new JdbcTemplate(dataSource);
			this.jdbc.execute("create table placed_order (id varchar(100))");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/shop/orders")
		ResponseEntity<String> place() {
			this.jdbc.update("insert into placed_order values ('one')");
			return ResponseEntity.status(201).body("placed");
		}

		@Idempotent(guarantee = Guarantee.TRANSACTION)
		@PostMapping("/shop/missing")
		ResponseEntity<String> placeWithoutCustomer() {
			this.jdbc.update("insert into placed_order values ('two')");
			throw new NoSuchElementException("There is no such customer");
		}

		@ExceptionHandler
		ResponseEntity<String> answer(NoSuchElementException ex) {
			return ResponseEntity.status(404).body("missing");
		}

	}

}

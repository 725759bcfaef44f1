package dev.idempotent.benchmark.request;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import dev.idempotent.benchmark.Application;
import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.testing.RealPostgres;
import dev.idempotent.testing.RealRedis;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * A shop that takes orders over HTTP, with its own database.
 */
final class RequestContender implements Contender {

	private static final List<String> WITHOUT_METERS = List
		.of("dev.idempotent.autoconfigure.actuate.IdempotencyOperationsAutoConfiguration");

	private final String name;

	private final Application application;

	private final Database database;

	private RequestContender(String name, RealPostgres postgres, RealRedis redis, Class<?> source, List<String> leftOut,
			String... properties) {
		this.name = name;
		this.database = Database.create(postgres, "requests_" + name);
		this.database.sql().execute("create table placed (item varchar(40), amount int)");
		List<String> all = new ArrayList<>(this.database.properties());
		all.addAll(redis.properties());
		all.addAll(List.of(properties));
		all.addAll(List.of("idempotent.jdbc.initialize-schema=always", "namastack.outbox.enabled=false",
				"server.tomcat.max-keep-alive-requests=-1", "idempotent.namespace=" + name));
		this.application = Application.startWeb(source, leftOut, all);
	}

	/**
	 * The yardstick: Spring Boot's own meters, and none of ours.
	 */
	static RequestContender plain(RealPostgres postgres, RealRedis redis) {
		return new RequestContender("plain", postgres, redis, Shop.class, WITHOUT_METERS);
	}

	static RequestContender withMeters(RealPostgres postgres, RealRedis redis) {
		return new RequestContender("meters", postgres, redis, Shop.class, List.of());
	}

	static RequestContender withTracer(RealPostgres postgres, RealRedis redis) {
		return new RequestContender("tracer", postgres, redis, TracedShop.class, WITHOUT_METERS);
	}

	static RequestContender withTraces(RealPostgres postgres, RealRedis redis) {
		return new RequestContender("traces", postgres, redis, TracedShop.class, List.of());
	}

	static RequestContender withEncryption(RealPostgres postgres, RealRedis redis) {
		return new RequestContender("encryption", postgres, redis, Shop.class, WITHOUT_METERS,
				"idempotent.encryption.keys.k1=AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
				"idempotent.encryption.active-key=k1");
	}

	@Override
	public String name() {
		return this.name;
	}

	int port() {
		return this.application.port();
	}

	void tidy() {
		this.database.sql().execute("truncate table placed, idempotency_record");
		this.database.tidy();
	}

	@Override
	public void close() {
		this.application.close();
	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	@Import(Orders.class)
	static class Shop {

	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	@Import({ Orders.class, SampledTraces.class })
	static class TracedShop {

	}

	@RestController
	static class Orders {

		private final JdbcTemplate database;

		Orders(JdbcTemplate database) {
			this.database = database;
		}

		@PostMapping("/lease")
		@Idempotent
		Map<String, Object> underLease(@RequestBody Map<String, Object> order) {
			return place(order);
		}

		@PostMapping("/transaction")
		@Idempotent(guarantee = Guarantee.TRANSACTION)
		Map<String, Object> inTransaction(@RequestBody Map<String, Object> order) {
			return place(order);
		}

		private Map<String, Object> place(Map<String, Object> order) {
			this.database.update("insert into placed values (?, ?)", order.get("item"), order.get("amount"));
			return order;
		}

	}

}

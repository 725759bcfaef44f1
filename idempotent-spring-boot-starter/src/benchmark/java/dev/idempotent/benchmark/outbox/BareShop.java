package dev.idempotent.benchmark.outbox;

import javax.sql.DataSource;

import dev.idempotent.benchmark.Contender;
import dev.idempotent.benchmark.Database;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;

/**
 * The yardstick: the business transaction alone.
 */
final class BareShop implements Contender {

	private final Shop shop;

	BareShop(Servers servers) {
		this.shop = Shop.open(name(), servers, Empty.class, "idempotent.enabled=false",
				"idempotent.outbox.enabled=false", "namastack.outbox.enabled=false");
	}

	@Override
	public String name() {
		return "bare";
	}

	void place() {
		this.shop.place((order) -> {
		});
	}

	Database database() {
		return this.shop.database();
	}

	DataSource pool() {
		return this.shop.application().bean(DataSource.class);
	}

	@Override
	public void close() {
		this.shop.close();
	}

	@EnableAutoConfiguration
	@Configuration(proxyBeanMethods = false)
	static class Empty {

	}

}

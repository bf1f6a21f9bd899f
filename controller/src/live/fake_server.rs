//! A server for tests: keeps settings, and counts what it was asked.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::settings::DEFAULTS;

/// Shared with the thread that answers.
#[derive(Clone)]
pub(crate) struct FakeServer {
    pub(crate) port: u16,
    settings: Arc<Mutex<HashMap<String, String>>>,
    /// The only password that it takes; `None`: any.
    password: Arc<Mutex<Option<String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeServer {
    /// With these settings beside the defaults.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let all = DEFAULTS.iter().chain(settings).map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        let settings = Arc::new(Mutex::new(all.collect()));
        let server = Self { port: listener.local_addr().unwrap().port(), settings, password: Arc::default(), asked: Arc::default() };
        let answering = server.clone();
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answering.answer(stream)));
        server
    }

    /// From now on it takes no other password.
    pub(crate) fn set_password(&self, password: &str) {
        *self.password.lock().unwrap() = Some(password.to_owned());
    }

    pub(crate) fn setting(&self, key: &str) -> String {
        self.settings.lock().unwrap()[key].clone()
    }

    /// What it was asked, without arguments, since the last look.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    fn answer(&self, stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut writer = stream;
        while let Some(words) = command(&mut reader) {
            let answer = match (words[0].as_str(), words[1].as_str()) {
                ("AUTH", _) if self.password.lock().unwrap().as_ref().is_some_and(|password| words.last() != Some(password)) => {
                    "-WRONGPASS invalid username-password pair or user is disabled.\r\n".to_owned()
                }
                ("CONFIG", "GET") => {
                    let settings = self.settings.lock().unwrap();
                    let pairs: Vec<&str> = words[2..].iter().flat_map(|key| [key.as_str(), settings[key].as_str()]).collect();
                    let texts = pairs.iter().map(|text| format!("${}\r\n{text}\r\n", text.len()));
                    format!("*{}\r\n{}", pairs.len(), texts.collect::<String>())
                }
                ("CONFIG", "SET") => {
                    let pairs = words[2..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()));
                    self.settings.lock().unwrap().extend(pairs);
                    "+OK\r\n".to_owned()
                }
                _ => "+OK\r\n".to_owned(),
            };
            let asked = if words[0] == "CONFIG" { format!("CONFIG {}", words[1]) } else { words[0].clone() };
            self.asked.lock().unwrap().push(asked);
            writer.write_all(answer.as_bytes()).unwrap();
        }
    }
}

/// One command: an array of strings, each with its length.
fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let number = |reader: &mut dyn BufRead| {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        line.trim().trim_start_matches(['*', '$']).parse::<usize>().ok()
    };
    let count = number(reader)?;
    let mut words = Vec::new();
    for _ in 0..count {
        let length = number(reader)?;
        let mut word = vec![0; length + 2];
        reader.read_exact(&mut word).ok()?;
        words.push(String::from_utf8(word[..length].to_vec()).unwrap());
    }
    Some(words)
}

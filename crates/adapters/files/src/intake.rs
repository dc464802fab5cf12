//! Receives files and inspects them.

use crate::detect::{self, DetectedType};
use crate::disk::{blocking, create_directory, disk_error};
use crate::images;
use async_trait::async_trait;
use civitas_attachments::{
    ByteStream, FileContent, FileInspection, FileIntake, ImageBytes, ReceiveOutcome, ReceivedBody,
};
use civitas_kernel::{Error, Result};
use futures_util::StreamExt;
use image::ImageFormat;
use md5::{Digest, Md5};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// How many bytes are collected before they are written.
const BUFFER: usize = 256 * 1024;
/// How many images are decoded at the same time; see [`images`] for the memory of one.
const DECODERS: usize = 1;

/// Receives files into a directory for temporary files, and inspects them.
///
/// The files have no names: the file system frees them when they are dropped, or when the process ends in any way.
/// One image is decoded at a time.
#[derive(Debug, Clone)]
pub struct DirectoryIntake {
    directory: Arc<PathBuf>,
    decoders: Arc<Semaphore>,
}

impl DirectoryIntake {
    /// `directory` is created where it is absent, for its owner only. It needs space for the files that are received
    /// at the same time, twice for images.
    pub fn open(directory: impl Into<PathBuf>) -> Result<Self> {
        let directory = directory.into();
        let prepare = || {
            create_directory(&directory)?;
            tempfile::tempfile_in(&directory)
        };
        prepare().map_err(disk_error)?;
        Ok(Self { directory: Arc::new(directory), decoders: Arc::new(Semaphore::new(DECODERS)) })
    }
}

#[async_trait]
impl FileIntake for DirectoryIntake {
    async fn receive(&self, mut bytes: ByteStream, limit: u64) -> Result<ReceiveOutcome> {
        let directory = Arc::clone(&self.directory);
        let mut sink = blocking(move || Sink::new(&directory)).await?;
        let mut byte_size = 0;
        while let Some(chunk) = bytes.next().await {
            let mut chunk = chunk?;
            byte_size += chunk.len() as u64;
            if byte_size > limit {
                return Ok(ReceiveOutcome::TooLong);
            }
            while !chunk.is_empty() {
                let part = chunk.split_to(chunk.len().min(BUFFER - sink.buffer.len()));
                sink.buffer.extend_from_slice(&part);
                if sink.buffer.len() == BUFFER {
                    sink = blocking(move || sink.flush()).await?;
                }
            }
        }
        let sink = blocking(move || sink.flush()).await?;
        let content = FileContent { file: sink.file, byte_size };
        Ok(ReceiveOutcome::Complete(ReceivedBody { content, md5: sink.md5.finalize().into() }))
    }

    async fn inspect(&self, received: ReceivedBody, bytes: ImageBytes) -> Result<FileInspection> {
        let content = received.content;
        let (content, detected) = blocking(move || {
            let detected = detect::detect(&content.file, content.byte_size).map_err(disk_error)?;
            Ok((content, detected))
        })
        .await?;
        match detected {
            DetectedType::Other(content_type) => blocking(move || whole(content, content_type)).await,
            DetectedType::Image(format) => {
                let permit = Arc::clone(&self.decoders).acquire_owned().await.map_err(Error::internal)?;
                let directory = Arc::clone(&self.directory);
                // The permit is held until the work ends, also when the future is dropped before.
                blocking(move || {
                    let processed = images::process(&content, format, &directory);
                    drop(permit);
                    picture(content, format, processed.map_err(disk_error)?, bytes)
                })
                .await
            }
        }
    }
}

/// A file that is stored as it is.
fn whole(mut content: FileContent, content_type: String) -> Result<FileInspection> {
    let sha256 = sha256(&mut content.file).map_err(disk_error)?;
    Ok(FileInspection { content, sha256, content_type, fault: None, thumbnail: None })
}

fn picture(
    content: FileContent,
    format: ImageFormat,
    processed: images::ImageResult,
    bytes: ImageBytes,
) -> Result<FileInspection> {
    let content_type = format.to_mime_type().to_owned();
    match processed {
        Ok(picture) => {
            let stored = if bytes == ImageBytes::Unchanged { content } else { picture.content };
            let inspected = whole(stored, content_type)?;
            Ok(FileInspection { thumbnail: picture.thumbnail, ..inspected })
        }
        Err(fault) => Ok(FileInspection { fault: Some(fault), ..whole(content, content_type)? }),
    }
}

/// SHA-256 of a file from its first byte. The file is at its first byte afterwards.
fn sha256(file: &mut File) -> io::Result<[u8; 32]> {
    file.rewind()?;
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = file.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        context.update(&buffer[..length]);
    }
    file.rewind()?;
    let mut digest = [0; 32];
    digest.copy_from_slice(context.finish().as_ref());
    Ok(digest)
}

/// A temporary file that is written in blocks, and the MD5 of what was written.
struct Sink {
    file: File,
    md5: Md5,
    buffer: Vec<u8>,
}

impl Sink {
    fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(disk_error)?;
        Ok(Self { file, md5: Md5::new(), buffer: Vec::with_capacity(BUFFER) })
    }

    fn flush(mut self) -> Result<Self> {
        self.file.write_all(&self.buffer).map_err(disk_error)?;
        self.md5.update(&self.buffer);
        self.buffer.clear();
        Ok(self)
    }
}

#[cfg(test)]
mod tests;
